export { CacheLedger, type AnsweredRequest } from './cache-ledger.js';
