/* jsx-runtime.ts for npm run dev and tests. */
import { type ElementType, Fragment, type JSX, type Key } from "react";
import * as react from "react/jsx-dev-runtime";
import { visibleProps } from "./visible";

export { Fragment, type JSX };

type Source = Parameters<typeof react.jsxDEV>[4];

export const jsxDEV = (type: ElementType, props: object, key: Key | undefined, isStatic: boolean, source?: Source, self?: unknown) =>
  react.jsxDEV(type, visibleProps(props), key, isStatic, source, self);
