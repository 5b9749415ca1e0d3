/** Steps of a pipeline: a stage of its own, or the alternatives of one entry. */
export function stepsOf<Stage extends { readonly group?: object | string | null | undefined }>(
  stages: readonly Stage[],
): readonly (readonly Stage[])[] {
  const steps: Stage[][] = [];
  for (const stage of stages) {
    const step = steps.at(-1);
    if (step && stage.group && step[0]?.group === stage.group) step.push(stage);
    else steps.push([stage]);
  }
  return steps;
}
