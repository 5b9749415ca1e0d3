import { describeMutations } from './mutated-requests.js';

describeMutations('openrouter', 'responses');
