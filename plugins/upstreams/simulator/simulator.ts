export { RecordedRequest, type Ending } from './recorded-request.js';
export { scenarioNames } from './scenarios/scenarios.js';
export { Simulator, startSimulator, type SimulatorOptions } from './server.js';
