/*
 * The functions that JSX compiles to (jsxImportSource in tsconfig.json and vite.config.ts). Everything that a screen shows
 * passes here, so no screen has to remember that a name may be hostile.
 */
import { type ElementType, Fragment, type JSX, type Key } from "react";
import * as react from "react/jsx-runtime";
import { visibleProps } from "./visible";

export { Fragment, type JSX };

export const jsx = (type: ElementType, props: object, key?: Key) => react.jsx(type, visibleProps(props), key);
export const jsxs = (type: ElementType, props: object, key?: Key) => react.jsxs(type, visibleProps(props), key);
