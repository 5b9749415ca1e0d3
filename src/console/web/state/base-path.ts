/** Base path of the gateway in this browser, such as `/llm`; empty at the root of its host. */
export const basePath = pathBefore(new URL(import.meta.url).pathname, '/panel/');

/** Path before the folders of `/panel/` with the page's scripts. */
function pathBefore(path: string, place: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(place)));
}
