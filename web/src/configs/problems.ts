import { type ApiError, sentence } from "../api/client";
import type { JsonProblem } from "../ui/JsonEditor";

/**
 * problemsAt returns the problems of a value with their places inside it. Problems at other places, such as
 * a schema that applies to a merged object, count for the value as a whole.
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
