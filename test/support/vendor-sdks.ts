import { createRequire } from 'node:module';
import path from 'node:path';

/** Title of a suite that compares slots with the vendors' SDKs, which says why it may be skipped. */
export function withSdks(title: string): string {
  return process.env['GW_TEST_SDKS'] === undefined ? `${title} (skipped: GW_TEST_SDKS is not set)` : title;
}

/** A package of the folder GW_TEST_SDKS; undefined where that is not set. */
export function vendorSdk(name: string): unknown {
  const folder = process.env['GW_TEST_SDKS'];
  if (folder === undefined) return undefined;
  return createRequire(path.resolve(folder, 'index.js'))(name);
}
