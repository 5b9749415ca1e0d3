import { expect } from 'chai';
import { RequestTrace } from '#src/engine/trace/request-trace.js';

describe('usage tags', () => {
  const traceWith = (tags: Readonly<Record<string, string>>) => {
    const trace = new RequestTrace(() => 0);
    for (const [name, value] of Object.entries(tags)) trace.tag(name, value);
    return trace;
  };

  it('are none where no stage sets one', () => {
    expect(new RequestTrace(() => 0).tags).to.equal(undefined);
  });

  it('are replaced by name, and removed by an empty value', () => {
    const trace = traceWith({ team: 'red', feature: 'search' });
    trace.tag('team', 'blue');
    expect(trace.tags).to.deep.equal({ feature: 'search', team: 'blue' });
    trace.tag('team', '');
    trace.tag('feature', '');
    expect(trace.tags).to.equal(undefined);
  });

  it('have values that every database takes', () => {
    const { tags } = traceWith({
      long: 'x'.repeat(200),
      half: 'a\ud800',
      lines: '\0a\nb ',
      cut: `${'x'.repeat(99)}\u{1F600}`,
    });
    expect(tags).to.deep.equal({
      long: 'x'.repeat(100),
      half: 'a\ufffd',
      lines: 'a b',
      cut: `${'x'.repeat(99)}\ufffd`,
    });
  });

  it('are at most eight a request', () => {
    const eight = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`tag${at}`, 'x']));
    const trace = traceWith(eight);
    trace.tag('tag7', 'y');
    expect(() => trace.tag('tag8', 'x')).to.throw(
      RangeError,
      'at most 8 usage tags; "tag8" would be one more',
    );
  });

  for (const name of ['', 'a b', '1a', '__proto__', 'a:b', 'x'.repeat(41)])
    it(`cannot be called ${JSON.stringify(name)}`, () => {
      expect(() => new RequestTrace(() => 0).tag(name, 'x')).to.throw(RangeError, 'a name is a letter');
    });
});
