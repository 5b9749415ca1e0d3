/** All steps of a build that follow the compiler. */
import './prune.js';
import './manifest.js';
import './commit.js';
import './bundle.js';
import './page.js';
