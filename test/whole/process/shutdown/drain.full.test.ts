import { describeDrain } from './drain.js';

describeDrain(1, ['connections']);
describeDrain(2, ['requests', 'connections']);
