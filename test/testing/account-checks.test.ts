import { expect } from 'chai';
import { defineAccount, type Account, type AccountHost } from '@gw2api/gateway/plugin/upstream';
import { accountChecks } from '@gw2api/gateway/testing';

const properties = { key: { type: 'string', secret: true } } as const;

/** Names of the rules that an account breaks. */
async function broken(
  open: (host: AccountHost) => Account,
  check: (key: string) => readonly { path: string[]; message: string }[] = () => [],
): Promise<readonly string[]> {
  const kind = defineAccount({
    name: 'mine',
    options: { type: 'object', properties },
    check: (options) => check((options as { key: string }).key),
    open: (_, host) => open(host),
  });
  const names: string[] = [];
  for (const { name, run } of accountChecks({ kind, options: { key: 'secret-1' } }))
    await run().catch((error: Error) => {
      expect(error.message).to.match(/^The account breaks a rule: /);
      names.push(name);
    });
  return names;
}

describe('accountChecks', () => {
  it('are kept by a valid account', async () => {
    let at = 0;
    const account = (): Account => ({
      authorize: () => ({ 'x-key': `k-${at}` }),
      async refresh() {
        at += 1;
        return true;
      },
    });
    expect(await broken(account)).to.deep.equal([]);
  });

  it('find an account that connects while it opens', async () => {
    const open = (host: AccountHost) => {
      host.connect('http://127.0.0.1:9');
      return { authorize: () => ({}) };
    };
    expect(await broken(open)).to.deep.equal(['opens without a connection']);
  });

  it('find headers that cannot be sent', async () => {
    const rule = ['proves a request with headers that can be sent'];
    expect(await broken(() => ({ authorize: () => ({ 'X-Key': 'k' }) }))).to.deep.equal(rule);
    expect(await broken(() => ({ authorize: () => ({ 'x-key': 'a\nb' }) }))).to.deep.equal(rule);
  });

  it('find proofs that depend on what was asked before', async () => {
    let at = 0;
    const account = { authorize: () => ({ [`x-key-${(at += 1)}`]: 'k' }) };
    expect(await broken(() => account)).to.deep.equal(['proves each request, in any order']);
  });

  it('find a request that is written into', async () => {
    const authorize: Account['authorize'] = (request) => {
      Object.assign(request.headers, { 'x-key': 'k' });
      return {};
    };
    expect(await broken(() => ({ authorize }))).to.deep.equal(['leaves the request as it is']);
  });

  it('find a refresh that renews nothing, and one for each refused request', async () => {
    const open = (host: AccountHost): Account => ({
      authorize: () => ({ 'x-key': 'k' }),
      async refresh() {
        host.connect('http://127.0.0.1:9');
        return true;
      },
    });
    expect(await broken(open)).to.deep.equal([
      'gives another proof after a refresh',
      'refreshes once for requests that are refused together',
    ]);
  });

  it('find errors in valid options, and errors that quote a secret', async () => {
    const account = () => ({ authorize: () => ({}) });
    const always = () => [{ path: ['key'], message: 'is not good' }];
    expect(await broken(account, always)).to.deep.equal(['finds no errors in valid options']);
    const quoting = (key: string) => (key.includes('\n') ? [{ path: ['key'], message: `is "${key}"` }] : []);
    expect(await broken(account, quoting)).to.deep.equal(['does not quote its secrets in errors']);
  });
});
