import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';

describe('the tests that .ci/run leaves out on the second Node', () => {
  it('exist', () => {
    const [list = ''] = /^once=\([^)]*\)$/m.exec(readFileSync('.ci/run', 'utf8')) ?? [];
    const script = `${list}\nprintf '%s\\n' "\${once[@]}"`;
    const names = execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n');
    expect(names).to.include('whole/slots/selection/failover');
    expect(names.filter((name) => !existsSync(`test/${name}.test.ts`))).to.deep.equal([]);
  });
});
