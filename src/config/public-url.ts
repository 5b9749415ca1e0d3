/** Base path of the gateway for browsers, from `panel.publicUrl`: `/llm`; empty at the root of its host. */
export function basePathOf(publicUrl: string | undefined): string {
  return publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');
}

/** True for a request that names the host of a public address that browsers reach by https. */
export function isAtHttps(publicUrl: string | undefined, host: string): boolean {
  return publicUrl !== undefined && new URL(publicUrl).origin === `https://${host.toLowerCase()}`;
}
