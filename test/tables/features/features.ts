import { sharedFeatures, type Feature } from './feature.js';
import { markPart, ownFeatures } from './own-features.js';
import { unknownMembers, unknownPart } from './unknown-members.js';
import { play } from './run.js';
import { countsOf, tableOf } from './table.js';

/** `npm run features`: what becomes of each feature of a request at each upstream kind and preset, as a table. */
const pattern = new RegExp(process.argv[2] ?? '.');
const isAsked = ({ name, format }: Feature) => pattern.test(`${format}: ${name}`);
const cells = [
  ...(await play(sharedFeatures().filter(isAsked))),
  ...(await play(ownFeatures.filter(isAsked), markPart)),
  ...(await play(unknownMembers(sharedFeatures()).filter(isAsked), (feature) => unknownPart(feature))),
];
const lost = cells.filter(({ verdict }) => verdict === 'LOST');
const lines = lost.map(({ feature, receiver, outcome: { status, message, dropped, calls } }) => {
  const said = message || dropped.join(' ');
  return `LOST ${feature.format}: ${feature.name} at ${receiver}: ${status} ${said} ${calls[0]?.raw.slice(0, 300) ?? ''}`;
});
process.stdout.write(`${[tableOf(cells), '', countsOf(cells), ...lines].join('\n')}\n`);
process.exitCode = lost.length > 0 ? 1 : 0;
