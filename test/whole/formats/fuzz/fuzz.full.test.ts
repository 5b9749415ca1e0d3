import { describeUpstreamFuzz } from './fuzz-upstreams.js';
import { describeFuzz } from './fuzz.js';

describeFuzz(1);
describeUpstreamFuzz(1);
