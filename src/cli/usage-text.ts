import { name, version } from '../kit/version.js';
import { commands } from './commands.js';

const configUsage = `  --config FILE   the config file; else GW_CONFIG, else config/gateway.yaml of the working directory, else the one
                  that the package brings, whose answers are made up
`;

/** Usage of a command; of all of them for none, or an unknown one. */
export function usageOf(word: string | undefined): string {
  const known = word !== undefined && Object.hasOwn(commands, word) ? commands[word] : undefined;
  if (!known) return usageOfAll();
  return `${known.usage}${'config' in known.options ? `\n${configUsage}` : ''}`;
}

function usageOfAll(): string {
  const ofCommands = Object.values(commands).map(({ usage }) => usage);
  return `${name} ${version}: an LLM gateway

  gw2api [--config FILE]         run the gateway
${ofCommands.join('')}
${configUsage}  --help          this text; after a command, its part
  --version       the version

Where the package is not installed, \`gw2api\` is \`node dist/server.js\`.

Environment: GW2API_API_KEY (master key), GW_SECRET_KEY (encrypts credentials in the store),
GW_SECRET_KEY_OLD (the one before it, read until rotate-secret has run), GW_PANEL_PASSWORD (opens the console; else the
master key does), GW_MAX_BODY, GW_CONFIG, PORT, HOST, GW_LOG_LEVEL, GW_LOG_FORMAT (pretty: lines for people in place of
JSON), GW_STRICT (1: stages are held to the state keys that they declare). A .env file in the working directory is read
first. SIGHUP reloads the config; SIGTERM finishes what is under way and ends.

Exit codes of the gateway: 0 ended by a signal, 1 the store or a plugin cannot be started, 2 the command line or the port,
78 the config is refused, as check does.
`;
}
