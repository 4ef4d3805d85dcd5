import { Suspense } from "react";
import { later } from "../ui/later";
import type { LevelFormProps } from "./LevelForm";

/** Picking is the pill that was clicked, with its place. */
export interface Picking extends Omit<LevelFormProps, "onClose" | "onWritten"> {
  anchor: HTMLElement;
}

export interface PickerProps {
  picking: Picking;
  onClose: () => void;
  onWritten?: (id: string) => void;
}

const LevelPopover = later(() => import("./LevelPopover"));

/** LevelPicker sets the level of the pill that was clicked; its form is loaded with the first click. */
export function LevelPicker(props: PickerProps) {
  return (
    <Suspense>
      <LevelPopover {...props} />
    </Suspense>
  );
}
