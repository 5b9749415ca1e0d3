import { expect } from 'chai';
import { readConfig } from '#src/config/load.js';

const rest = 'pipeline: [{ use: auth }]\nslots: [{ id: a, upstream: simulator }]\n';
const oidc = {
  issuer: 'https://login.example',
  clientId: 'gw',
  clientSecret: 'a-secret-of-the-provider',
  adminGroups: ['ops'],
};
const read = (panel: object, env: Record<string, string> = {}) =>
  readConfig({ text: `panel: ${JSON.stringify(panel)}\n${rest}`, file: 'gateway.yaml', env });
const problems = (panel: object) =>
  read(panel).problems.map(({ path, message, at }) => `${at.file}:${at.line} ${path}: ${message}`);
const withOidc = (fields: object, publicUrl: string | undefined = 'https://gw.example') =>
  problems({ publicUrl, oidc: { ...oidc, ...fields } });

describe('panel: in the config', () => {
  it('has sessions of twelve hours, the claim `groups`, and the host of the issuer as its label', () => {
    const { config } = read({ publicUrl: 'https://gw.example/', oidc });
    expect(config?.panel).to.deep.equal({
      publicUrl: 'https://gw.example',
      oidc: {
        ...oidc,
        label: 'login.example',
        scopes: ['openid', 'email', 'profile'],
        groupsClaim: 'groups',
        nameClaim: 'email',
        emailVerified: 'required',
        viewerGroups: [],
        only: false,
        sessionMs: 12 * 3_600_000,
      },
    });
    expect(read({}).config?.panel).to.deep.equal({});
  });

  it('is as if it were not there where it is not enabled', () => {
    expect(read({ oidc: { ...oidc, enabled: false } }).config?.panel).to.deep.equal({});
  });

  it('takes its secret from the environment', () => {
    const clientSecret = '${GW_OIDC_SECRET}';
    const { config } = read(
      { publicUrl: 'https://gw.example', oidc: { ...oidc, clientSecret } },
      { GW_OIDC_SECRET: 'from outside' },
    );
    expect(config?.panel.oidc?.clientSecret).to.equal('from outside');
    expect(withOidc({ clientSecret }).join())
      .to.include('panel.oidc.clientSecret')
      .and.to.include('GW_OIDC_SECRET');
  });

  it('needs https but on a loopback address', () => {
    const https = 'must begin with https://; http:// is allowed only for loopback addresses';
    expect(withOidc({}, 'http://gw.example')).to.deep.equal([`gateway.yaml:1 panel.publicUrl: ${https}`]);
    expect(withOidc({ issuer: 'http://login.example' })).to.deep.equal([
      `gateway.yaml:1 panel.oidc.issuer: ${https}`,
    ]);
    for (const host of ['127.0.0.1:8787', 'localhost', '[::1]:8787'])
      expect(withOidc({ issuer: `http://${host}/realms/x` }, `http://${host}`)).to.deep.equal([]);
    for (const text of [
      'gw.example',
      'ftp://gw.example',
      'javascript:alert(1)',
      'http://127.0.0.1.evil.example',
    ])
      expect(withOidc({}, text), text).to.have.length(1);
  });

  it('has an address with the path that the gateway is below, without a slash at its end', () => {
    for (const [text, publicUrl] of [
      ['https://gw.example/llm/', 'https://gw.example/llm'],
      ['https://GW.example/a/b-c_d.e~f', 'https://gw.example/a/b-c_d.e~f'],
      ['https://gw.example/x/../llm', 'https://gw.example/llm'],
      ['https://gw.example/vi', 'https://gw.example/vi'],
    ])
      expect(read({ publicUrl: text }).config?.panel).to.deep.equal({ publicUrl });
  });

  it('needs an address that is nothing else, and says so without the password in it', () => {
    const own = (first: string) =>
      `must not have a path that begins with /${first}, which is the gateway's own; https://gw.example is enough where it is at the root of its host`;
    const odd =
      'must have a path of only letters, digits, "-", "_", "." and "~", such as https://gw.example/llm';
    for (const [text, message] of [
      ['https://gw.example/panel', own('panel')],
      ['https://gw.example/v1/llm/', own('v1')],
      ['https://gw.example/a//b', odd],
      ['https://gw.example/a;b', odd],
      ['https://gw.example/a%20b', odd],
      ['https://gw.example/"b', odd],
      ['https://gw.example/?a=b', 'must have no query and no fragment'],
      ['https://me:hidden@gw.example', 'must not hold a user or a password'],
    ] as const)
      expect(withOidc({}, text)).to.deep.equal([`gateway.yaml:1 panel.publicUrl: ${message}`]);
    expect(problems({ oidc }).join()).to.include('panel.oidc: needs panel.publicUrl');
  });

  it('refuses what would let in nobody, or everybody as an admin', () => {
    expect(withOidc({ adminGroups: [] }).join()).to.include('nobody could sign in');
    expect(withOidc({ adminGroups: ['*'] }).join()).to.include('only viewerGroups takes "*"');
    expect(withOidc({ adminGroups: [], viewerGroups: ['*'] })).to.deep.equal([]);
    expect(withOidc({ scopes: ['email'] }).join()).to.include('must contain "openid"');
    expect(withOidc({ sessionHours: 13 }).join()).to.include('panel.oidc.sessionHours');
    expect(withOidc({ sessionHours: 0 }).join()).to.include('panel.oidc.sessionHours');
    expect(withOidc({ group: ['x'] }).join()).to.include('panel.oidc.group');
  });
});
