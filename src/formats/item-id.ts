export type ItemKind = 'msg' | 'rs' | 'fc' | 'ctc' | 'ws';

export function itemId(kind: ItemKind, responseId: string, index: number): string {
  return `${kind}_${responseId.replace(/^resp_/, '')}_${index}`; // a placeholder
}
