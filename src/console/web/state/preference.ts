/** A choice kept in the browser; undefined if there is none, or if storage is switched off. */
export function readPreference(name: string): string | undefined {
  try {
    return localStorage.getItem(name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a choice in the browser; with storage switched off it lasts as long as the page. */
export function keepPreference(name: string, value: string): void {
  try {
    localStorage.setItem(name, value);
  } catch {
    return;
  }
}
