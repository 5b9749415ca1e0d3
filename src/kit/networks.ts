import { BlockList, isIP } from 'node:net';

/** Networks in CIDR notation, or single addresses; texts that are neither are left out. */
export class Networks {
  readonly #list = new BlockList();

  constructor(texts: readonly string[]) {
    for (const text of texts) {
      const network = parseNetwork(text);
      if (network) this.#list.addSubnet(network.address, network.bits, network.family);
    }
  }

  /** False for a text that is not an address. */
  has(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#list.check(address, version === 6 ? 'ipv6' : 'ipv4');
  }
}

interface Network {
  readonly address: string;
  readonly bits: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** Reads `10.0.0.0/8`, `fd00::/8` or one address; undefined for any other text. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const version = isIP(address);
  const max = version === 6 ? 128 : 32;
  const bits = length === undefined ? max : /^\d{1,3}$/.test(length) ? Number(length) : Infinity;
  if (version === 0 || rest.length > 0 || bits > max) return undefined;
  return { address, bits, family: version === 6 ? 'ipv6' : 'ipv4' };
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** True for the addresses and names by which a machine reaches itself: `127.0.0.1`, `::1`, `localhost`. */
export function isLoopback(host: string): boolean {
  const name = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const family = isIP(name);
  if (family === 0) return name === 'localhost' || name.endsWith('.localhost');
  return loopback.check(name, family === 4 ? 'ipv4' : 'ipv6');
}
