const width = 92;
const height = 22;

/** Sparkline: a month of requests as small bars, beside the same number as text. */
export function Sparkline({ values }: { readonly values: readonly number[] }) {
  const max = Math.max(1, ...values);
  const step = width / values.length;
  return (
    <svg
      class="sparkline"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      aria-hidden="true"
    >
      {values.map((value, day) => {
        const tall = value > 0 ? Math.max(2, (value / max) * height) : 1;
        return <rect key={day} x={day * step} y={height - tall} width={step - 0.8} height={tall} rx={0.6} />;
      })}
    </svg>
  );
}
