/** Does nothing until it is killed, as a worker of member.test.ts. */
setInterval(() => undefined, 60_000);
