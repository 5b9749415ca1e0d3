import { describeMutations } from './mutated-requests.js';

describeMutations('messages');
