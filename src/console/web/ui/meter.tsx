interface MeterProps {
  readonly label: string;
  readonly value: number;
  readonly max: number;
  /** The value in words. */
  readonly text: string;
}

/** Meter of a part of a whole; turns amber, then red near its max, as does the text beside it. */
export function Meter({ label, value, max, text }: MeterProps) {
  const percent = max > 0 ? Math.min(100, (value / max) * 100) : 0;
  const tone = percent >= 95 ? 'bad' : percent >= 80 ? 'warn' : 'ok';
  return (
    <div
      class={`meter meter-${tone}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={max}
      aria-valuenow={Math.min(value, max)}
      aria-valuetext={text}
    >
      <span style={{ width: `${percent}%` }} />
    </div>
  );
}
