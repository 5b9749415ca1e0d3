import { BlockList, isIP } from 'node:net';

/**
 * True for a literal address, as URLs contain it, that is link-local or a cloud's metadata address. URL
 * parsing has already normalized decimal, octal and hexadecimal spellings.
 */
export function isLinkLocal(host: string): boolean {
  const address = host.replaceAll(/^\[|\]$|%.*$/g, '');
  const family = isIP(address);
  return family !== 0 && refused.check(address, family === 6 ? 'ipv6' : 'ipv4');
}

/** The message for such a host; it continues the name of its field. */
export const whyRefused =
  'is a link-local or metadata address, where slots of the console may not connect; `console.allowLinkLocal` in the config file allows it';

/** Each IPv4 range also as the IPv6 addresses that lead to it. */
function refusedAddresses(): BlockList {
  const list = new BlockList();
  for (const [address, bits] of ipv4) {
    list.addSubnet(address, bits);
    for (const prefix of ['::ffff:', '::', '64:ff9b::', '64:ff9b:1::'])
      list.addSubnet(`${prefix}${address}`, 96 + bits, 'ipv6');
    list.addSubnet(sixToFour(address), 16 + bits, 'ipv6');
  }
  list.addSubnet('fe80::', 10, 'ipv6');
  for (const address of ipv6) list.addAddress(address, 'ipv6');
  return list;
}

const ipv4 = [
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
] as const;

/** Metadata of AWS, credentials of EKS pods, and metadata of Google Cloud. */
const ipv6 = ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'] as const;

/** `2002:a9fe:0000::` for 169.254.0.0. */
function sixToFour(address: string): string {
  const bytes = address.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'));
  return `2002:${bytes.slice(0, 2).join('')}:${bytes.slice(2).join('')}::`;
}

const refused = refusedAddresses();
