/** Words about models of a key that nobody here knows, with a space before them; empty where all are known. */
export function unknownModelsNote(models: readonly string[]): string {
  if (models.length === 0) return '';
  return ` Neither the catalog nor the list of a slot has ${models.join(', ')}: a misspelt name lets nothing in.`;
}
