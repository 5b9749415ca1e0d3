export { simulatorAdapter } from './adapter.js';
export { Exchange, type Ending } from './exchange.js';
export { scenarioHelp } from './scenarios.js';
export { Simulator, startSimulator, type SimulatorOptions } from './server.js';
