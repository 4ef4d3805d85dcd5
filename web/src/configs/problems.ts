import { type ApiError, sentence } from "../api/client";
import type { JsonProblem } from "../ui/JsonEditor";

/**
 * problemsAt returns what a refusal says about a value, with the places inside it. What it says about other
 * places, such as a schema that holds for a merged object, is about the value as a whole.
 */
export function problemsAt(failure: ApiError | undefined, pointer: string): JsonProblem[] {
  if (!failure) return [];
  if (failure.problems.length === 0) return [{ message: failure.message }];
  return failure.problems.map((problem) => {
    const at = problem.source?.pointer ?? "";
    const isInside = at === pointer || at.startsWith(`${pointer}/`);
    return { message: sentence(problem), pointer: isInside ? at.slice(pointer.length) : undefined };
  });
}
