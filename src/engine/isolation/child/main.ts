import { Socket } from 'node:net';
import { Link } from '../wire/link.js';
import { Streams } from '../wire/streams.js';
import { ErrorNotes } from '../wire/wire-errors.js';
import { confine } from './confine.js';
import { installModuleHooks } from './module-hooks.js';
import { Runtime } from './runtime.js';

// Entry of a child process that runs one stage: all that it needs is loaded before anything is taken away.

/** File descriptor of the connection to the gateway. */
const connection = 3;

const errors = new ErrorNotes();
const streams = new Streams(() => link, errors);
const runtime = new Runtime(
  { call: (...args) => link.call(...args), note: (method, params) => link.note(method, params) },
  streams,
);
const socket = new Socket({ fd: connection, readable: true, writable: true });
const exit = process.exit.bind(process);
const link: Link = new Link(socket, {
  calls: runtime.calls,
  notes: { ...runtime.notes, ...streams.notes },
  maxOpen: Infinity,
  errors,
  onEnd: () => exit(0),
});
confine((text) => link.note('print', text));
installModuleHooks();
link.note('hello', process.pid);
