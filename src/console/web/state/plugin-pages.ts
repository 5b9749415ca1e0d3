import { fetchPluginPages, type PluginPage } from './status.js';
import { useResource, type Resource } from './use-resource.js';

/** Pages that plugins bring; a reload of the gateway changes them. */
export function usePluginPages(): Resource<readonly PluginPage[]> {
  return useResource('pages', fetchPluginPages, 60_000);
}

/** Path of a plugin's page in the console. */
export function pathOfPage({ url }: PluginPage): string {
  return `${prefix}${url}`;
}

/** URL of the page that a path of the console shows; undefined: not a path of a plugin. */
export function pageUrlAt(path: string): string | undefined {
  return path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : undefined;
}

const prefix = '/pages';
