import { describeDrain } from './drain.js';

describeDrain(1, ['requests']);
