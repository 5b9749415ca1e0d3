/** The project's logo: several lines in, one line out. */
export function Logo({ size = 28 }: { readonly size?: number }) {
  return (
    <svg class="logo" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M6 9h3c4 0 4 7 8 7h9M6 16h20M6 23h3c4 0 4-7 8-7" />
    </svg>
  );
}
