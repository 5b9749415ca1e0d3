/** Ways in which an answer may end, by the word of its server. */
export type FinishKind = 'complete' | 'cut' | 'refused' | 'failed';

/**
 * Way in which a finish reason ends an answer, in the words of any server: `MAX_TOKENS`, `content-filter`,
 * `FinishReason.SAFETY`. Undefined for no reason, and for a word that stands for none (`"null"`); an unknown word
 * ends an answer as complete.
 */
export function finishKind(reason: unknown): FinishKind | undefined {
  if (typeof reason !== 'string') return undefined;
  const word = reason
    .slice(0, maxLength)
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')
    .replace(/^finishreason/, '');
  if (word === '' || none.has(word)) return undefined;
  if (cut.has(word)) return 'cut';
  if (refused.has(word)) return 'refused';
  return failed.has(word) || word.endsWith('error') || word.includes('malformedfunctioncall')
    ? 'failed'
    : 'complete';
}

const maxLength = 100;

/** Letters of the words alone, so that case and separators do not matter. */
const none = words('null none undefined unspecified');
const cut = words(`length maxtokens maxtoken maxlength modellength tokenlimit lengthlimit incomplete truncated
  maxoutputtokens maxcompletiontokens maxnewtokens modelcontextwindowexceeded contextwindowexceeded
  contextlengthexceeded contextlength`);
const refused =
  words(`contentfilter contentfiltered contentblocked contentpolicy contentpolicyviolation refusal
  refused safety recitation blocklist prohibitedcontent spii imagesafety imageprohibitedcontent imagerecitation
  language sensitive moderation moderated blocked guardrailintervened guardrails`);
const failed =
  words(`insufficientsystemresource abort aborted cancel cancelled canceled timeout timedout failed
  failure interrupted disconnected overloaded preempted`);

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/));
}
