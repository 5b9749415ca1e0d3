export { LateError, within } from '../plugin/index.js';
