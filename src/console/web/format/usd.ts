/** Amount in USD: $0.0042, $0.42, $1,234.50. */
export function usd(amount: number): string {
  const digits =
    amount !== 0 && Math.abs(amount) < 0.1
      ? { maximumSignificantDigits: 2 }
      : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return new Intl.NumberFormat('en', { style: 'currency', currency: 'USD', ...digits }).format(amount);
}
