/** Page of a request in the console, by its id in the ledger. */
export function pathOfRequest(id: string): string {
  return `/requests/${encodeURIComponent(id)}`;
}
