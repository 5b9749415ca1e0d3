import { fileURLToPath } from 'node:url';

// Both `build/kit` and `dist/chunks`, where this module is at run time, are two levels below the package.

/** Path of a file of the package, such as `config/models.yaml`. */
export function packageFile(path: string): string {
  return fileURLToPath(packageUrl(path));
}

/** URL of a file of the package. */
export function packageUrl(path: string): URL {
  return new URL(`../../${path}`, import.meta.url);
}

/** URL of a module of the running program, such as `cli/watchdog/watch.js`. */
export function programUrl(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** Path of a module or a folder of the running program. */
export function programFile(path: string): string {
  return fileURLToPath(programUrl(path));
}
