/** Page of the console to return to after a login; any other address becomes its first page. */
export function returnPath(text: string | undefined, origin: string): string {
  if (text === undefined || text.length > maxLength || !URL.canParse(text, origin)) return home;
  const { origin: own, pathname, search } = new URL(text, origin);
  const isPage = own === origin && /^\/panel(\/|$)/.test(pathname);
  return isPage ? pathname + search : home;
}

const home = '/panel';
const maxLength = 500;
