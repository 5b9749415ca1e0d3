import { describeUpstreamFuzz } from './fuzz-upstreams.js';
import { describeFuzz } from './fuzz.js';

describeFuzz(0.1);
describeUpstreamFuzz(0.1);
