import { guideOf } from './guide.js';
import { providers } from './providers.js';

/** `npm run build:providers`: the guide, for `config/providers.md`. */
process.stdout.write(`${guideOf(providers)}\n`);
