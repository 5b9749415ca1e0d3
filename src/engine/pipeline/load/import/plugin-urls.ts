import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isWithin, PluginFiles } from './plugin-files.js';

/**
 * URLs under which Node keeps the modules of plugins: `redact.js?v=<version>`, and `&up=1` in a folder below the
 * plugin's. An edited file, and each one that imports it, has a new URL; all others keep theirs, and their state.
 */
export class PluginUrls {
  readonly #files = new PluginFiles();

  /** URL of a plugin listed by its path; `attempt` distinguishes it from a failed one. */
  entry(file: string, attempt = ''): string {
    return this.#url(file, path.dirname(file), attempt);
  }

  /** URL of a module that another one imports: with its version if both are files of one plugin. */
  imported(url: string, parentUrl: string): string {
    const parent = parentUrl.startsWith('file:') ? new URL(parentUrl) : undefined;
    if (!parent?.searchParams.has('v') || !url.startsWith('file:') || url.includes('?')) return url;
    const up = Number(parent.searchParams.get('up') ?? 0);
    const root = path.resolve(path.dirname(fileURLToPath(parent)), '../'.repeat(up));
    const file = fileURLToPath(url);
    return isWithin(file, root) ? this.#url(file, root, parent.searchParams.get('try') ?? '') : url;
  }

  #url(file: string, root: string, attempt: string): string {
    const url = pathToFileURL(file);
    url.searchParams.set('v', this.#files.version(file, root));
    const folders = path.relative(root, path.dirname(file)).split(path.sep).filter(Boolean);
    if (folders.length > 0) url.searchParams.set('up', String(folders.length));
    if (attempt !== '') url.searchParams.set('try', attempt);
    return url.href;
  }
}
