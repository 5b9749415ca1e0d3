import { expect } from 'chai';
import { CookieBrowser } from './cookie-browser.js';
import { callbackQuery, startScriptedProvider, type ScriptedProvider } from './scripted-provider.js';
import { freePort, startWithProvider, type WithProvider } from './sign-in.js';

type Claims = Readonly<Record<string, unknown>>;

describe('claims of an OpenID login', () => {
  let provider: ScriptedProvider;
  let under: WithProvider;
  before(async () => {
    provider = await startScriptedProvider();
  });
  after(() => provider.close());
  afterEach(() => under.close());

  const start = async (oidc: object) => {
    under = await startWithProvider(await freePort(), provider.issuer, oidc);
  };
  /** Name and role of the session that a login opens, or the status of its refusal. */
  const login = async (claims: Claims, userinfo: Claims = {}): Promise<string | number> => {
    Object.assign(provider.script, { claims: { groups: undefined, ...claims }, userinfo });
    const browser = new CookieBrowser();
    const begun = await browser.visit(`${under.url}/api/panel/oidc/login`, {}, /\/authorize\?/);
    const url = `${under.url}/api/panel/oidc/callback?${callbackQuery(begun.url)}`;
    const { status } = await browser.visit(url);
    under.nowIs((shiftMs += 120_000)); // past the limit of wrong logins
    if (status !== 200) return status;
    const { actor } = await sessionOf(browser);
    return `${actor.role} ${actor.name}`;
  };
  let shiftMs = 0;
  const sessionOf = async (browser: CookieBrowser) => {
    const headers = { cookie: browser.cookies(`${under.url}/api/panel/session`) };
    const answer = await fetch(`${under.url}/api/panel/session`, { headers });
    return (await answer.json()) as { actor: { role: string; name: string } };
  };

  const byEmail = { groupsClaim: 'email', adminGroups: ['ada@example.com'] };

  it('give a role by email only where it is verified', async () => {
    await start(byEmail);
    for (const verified of [true, 'true'])
      expect(await login({ email_verified: verified }), String(verified)).to.equal('admin ada@example.com');
    for (const wrong of [false, 'false', 0, '0', 1, 'yes', null, {}, 'TRUE '])
      expect(await login({ email_verified: wrong }), JSON.stringify(wrong)).to.equal(403);
  });

  it('are asked of userinfo where the ID token does not say whether the email is verified', async () => {
    await start(byEmail);
    const email = 'ada@example.com';
    expect(await login({}, { email, email_verified: true })).to.equal('admin ada@example.com');
    expect(await login({}, { email, email_verified: false })).to.equal(403);
    expect(await login({}, { email: 'eve@example.com', email_verified: true }), 'another address').to.equal(
      403,
    );
    const none = { email: undefined };
    expect(await login(none, { email, email_verified: 'true' })).to.equal('admin ada@example.com');
    const vouched = { ...none, email_verified: true };
    expect(await login(vouched, { email, email_verified: false }), 'both say').to.equal(403);
    expect(await login({ email_verified: false }, { email, email_verified: true })).to.equal(403);
  });

  it('give no role by an email of which nobody says that it is verified, unless that is assumed', async () => {
    await start(byEmail);
    expect(await login({})).to.equal(403);
    await under.close();
    await start({ ...byEmail, emailVerified: 'assume' });
    expect(await login({})).to.equal('admin ada@example.com');
    expect(await login({}, { email: 'ada@example.com', email_verified: false })).to.equal(403);
  });

  it('name a person by an email that nobody has called unverified', async () => {
    await start({});
    const groups = ['ops'];
    expect(await login({ groups })).to.equal('admin ada@example.com');
    expect(await login({ groups, email_verified: 'false' })).to.equal('admin ada');
  });

  it('are looked for in userinfo where the list of the ID token is empty', async () => {
    await start({});
    expect(await login({ groups: [] }, { groups: ['ops'] })).to.equal('admin ada@example.com');
    expect(await login({ groups: ['staff'] }, { groups: ['ops'] })).to.equal('viewer ada@example.com');
    await under.close();
    await start({ groupsClaim: 'realm_access.roles' });
    const nested = await login({ realm_access: { roles: [] } }, { realm_access: { roles: ['ops'] } });
    expect(nested).to.equal('admin ada@example.com');
  });

  it('may hold groups as the keys of an object', async () => {
    const groupsClaim = 'urn:zitadel:iam:org:project:roles';
    await start({ groupsClaim });
    expect(await login({ [groupsClaim]: { ops: { 281: 'example.com' } } })).to.equal('admin ada@example.com');
    expect(await login({ [groupsClaim]: { ops: false, staff: null } })).to.equal(403);
  });

  it('leave in the log whether the groups were there', async () => {
    await start({});
    await login({ groups: ['elsewhere'] });
    await login({});
    await login({ groups: [] });
    const failed = under.logged.filter(({ msg }) => String(msg).includes('OpenID Connect failed'));
    expect(failed.map(({ reason }) => reason)).to.deep.equal([
      'no group with a role, subject "ada": the claim "groups" has 1 group, none of which has a role',
      'no group with a role, subject "ada": neither ID token nor userinfo has the claim "groups"',
      'no group with a role, subject "ada": the claim "groups" is empty',
    ]);
  });
});
