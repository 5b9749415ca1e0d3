import { createRequire } from 'node:module';
import type * as Whole from 'typebox';

/**
 * TypeBox's builder of schemas. It is required, since an import would load its hundreds of modules one
 * promise at a time.
 */
export const { Type } = createRequire(import.meta.url)('typebox') as typeof Whole; // the same module, loaded as CommonJS
