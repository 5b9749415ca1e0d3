import { printable } from '../../../../kit/terminal.js';
import { codeOf, messageOf } from './faults.js';
import { StoreError } from '../../store-error.js';

/** Error for the operator: the answer of PostgreSQL, and the fix. `name`: "PostgreSQL at HOST". */
export function cannotUse(name: string, cause: unknown): StoreError {
  const why = shownMessage(cause);
  const cure = cures.find(([codes, words]) => codes.test(codeOf(cause)) && (words?.test(why) ?? true))?.[2];
  return new StoreError(`${name} cannot be used (${why})${cure === undefined ? '' : `; ${cure}`}.`, {
    cause,
  });
}

/** True for an error of PostgreSQL, and of the connection to it; false for a bug. */
export function isOfServer(error: unknown): boolean {
  return codeOf(error) !== '' || hasNoConnection.test(messageOf(error));
}

/** True if a retry may succeed: the server starts, is restarted, or is not reachable yet. */
export function isTemporary(error: unknown): boolean {
  return temporary.test(codeOf(error)) || hasNoConnection.test(messageOf(error));
}

const temporary =
  /^(?:08\w{3}|57P0[1-3]|53300|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|EHOSTDOWN|ENETUNREACH|ENOENT|EPIPE)$/;

/** Errors of the driver that have no code. */
const hasNoConnection = /^(?:Connection terminated|timeout e|Client has encountered a connection error)/;

type Cure = readonly [codes: RegExp, words: RegExp | undefined, cure: string];

const cures: readonly Cure[] = [
  [/^28/, /pg_hba/, 'admit this host there (pg_hba.conf), or set sslmode=require if it says "no encryption"'],
  [/^28/, undefined, 'correct the user and the password in `store:`'],
  [/^3D000$/, undefined, `create it (create database NAME encoding 'UTF8' template template0)`],
  [/^3F000$/, undefined, 'create the schema that search_path names'],
  [/^42501$/, /owner/, 'start the gateway once as the owner of the tables, or make this user their owner'],
  [/^42501$/, undefined, 'grant that privilege to the user of `store:`'],
  [
    /^(?:42703|42P07)$/,
    undefined,
    'another program uses this schema: use a separate one (?options=-c search_path=NAME)',
  ],
  [/^25006$/, undefined, 'name the server that accepts writes'],
  [/^53100$/, undefined, 'free space on its disk'],
  [/^53300$/, undefined, 'raise its max_connections, or close other connections'],
  [/^(?:ENOTFOUND|EAI_AGAIN)$/, undefined, 'correct the host in `store:`'],
];

/** One line of a log. */
function shownMessage(error: unknown): string {
  return printable(messageOf(error).replaceAll(/\s+/g, ' ')).slice(0, maxMessage);
}

const maxMessage = 300;
