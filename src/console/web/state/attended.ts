let lastInputMs = Date.now();

for (const type of ['pointerdown', 'pointermove', 'keydown', 'wheel'])
  window.addEventListener(type, () => void (lastInputMs = Date.now()), { passive: true, capture: true });

/** True if somebody has used the page within the last minute. */
export function isAttended(): boolean {
  return Date.now() - lastInputMs < 60_000;
}
