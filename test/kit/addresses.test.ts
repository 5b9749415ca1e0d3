import { expect } from 'chai';
import { isLinkLocal } from '#src/kit/addresses.js';

describe('a link-local or metadata address', () => {
  for (const host of [
    '169.254.0.0',
    '169.254.169.254',
    '169.254.255.255',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    'fe80::1',
    'fe80::1%eth0',
    'febf:ffff::1',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd20:ce::254',
    '[fd20:ce:0:0::254]',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::169.254.169.254',
    '::ffff:100.100.100.200',
    '64:ff9b::169.254.169.254',
    '64:ff9b::a83f:8110',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '2002:6464:64c8::',
    '[fe80::1]',
    '[::ffff:a9fe:a9fe]',
  ])
    it(`is ${host}`, () => {
      expect(isLinkLocal(host)).to.equal(true);
    });

  for (const host of [
    '127.0.0.1',
    '10.0.0.1',
    '169.253.255.255',
    '169.255.0.0',
    '100.100.100.201',
    '168.63.129.17',
    '192.0.0.193',
    '::1',
    'fec0::1',
    'fd00:ec2::255',
    'fd20:ce::253',
    '::ffff:169.253.1.1',
    '64:ff9b::8.8.8.8',
    '2002:a9ff::1',
    '169.254.169.254.example',
    'fe80',
    '',
  ])
    it(`is not ${JSON.stringify(host)}`, () => {
      expect(isLinkLocal(host)).to.equal(false);
    });

  for (const spelling of [
    '2852039166',
    '0xa9fea9fe',
    '0251.0376.0251.0376',
    '0xa9.254.0251.254',
    '169.254.43518',
    '169.16689662',
    '169.254.169.254.',
    '１６９.２５４.１６９.２５４',
    '[0:0:0:0:0:ffff:169.254.169.254]',
    '[64:FF9B::169.254.169.254]',
    '%31%36%39.254.169.254',
  ])
    it(`is ${spelling} in a URL`, () => {
      expect(isLinkLocal(new URL(`http://${spelling}:80/`).hostname)).to.equal(true);
    });
});
