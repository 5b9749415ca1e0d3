/** Amount in USD: $0.0042, $0.42, $12.30, $1,234. */
export function usd(amount: number): string {
  const size = Math.abs(amount);
  if (size >= 1000) return whole.format(amount);
  return amount !== 0 && size < 0.1 ? small.format(amount) : cents.format(amount);
}

const money = { style: 'currency', currency: 'USD' } as const;
const whole = new Intl.NumberFormat('en', { ...money, maximumFractionDigits: 0 });
const cents = new Intl.NumberFormat('en', money);
const small = new Intl.NumberFormat('en', { ...money, maximumSignificantDigits: 2 });
