import { reportDropped } from 'gw2api/plugin';

/** Names fields that an upstream cannot express; nothing for those named before. */
export type DropReport = (dropped: readonly string[]) => void;

interface Answer {
  readonly headerSent: boolean;
  readonly response: Parameters<typeof reportDropped>[0];
}

/** Report in `x-gw-dropped` for all calls of one request, as long as the head of the answer is not sent. */
export function dropReport(answer: Answer): DropReport {
  let reported: readonly string[] = [];
  return (dropped) => {
    const fresh = dropped.filter((path) => !reported.includes(path));
    reported = [...reported, ...fresh];
    if (!answer.headerSent) reportDropped(answer.response, fresh);
  };
}
