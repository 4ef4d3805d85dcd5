import { createTheme, type MantineColorsTuple } from "@mantine/core";

// The one accent. White on the shade that buttons use has a contrast of 5.9 : 1.
const accent: MantineColorsTuple = [
  "#eef7f6",
  "#dcecea",
  "#b8d9d5",
  "#90c5bf",
  "#6fb4ad",
  "#59a9a1",
  "#3f8f88",
  "#2f6f6a",
  "#265b57",
  "#1b4643",
];

// Mantine's grays in the hue of the surfaces in app.css.
const dark: MantineColorsTuple = [
  "#c9cdd2",
  "#b6bbc2",
  "#848a92",
  "#69707a",
  "#424a52",
  "#343a41",
  "#272c31",
  "#22262b",
  "#1b1e22",
  "#14161a",
];

export const theme = createTheme({
  primaryColor: "accent",
  primaryShade: { light: 7, dark: 7 },
  colors: { accent, dark },
  defaultRadius: 6,
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  respectReducedMotion: true,
  components: {
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true, multiline: true, maw: 320, fz: "xs" } },
    Modal: {
      defaultProps: {
        centered: true,
        transitionProps: { duration: 100 },
        closeButtonProps: { "aria-label": "Close" },
        attributes: { header: { role: "presentation" } }, // it is not the header of the page
      },
    },
    Popover: { defaultProps: { shadow: "md", withinPortal: true, transitionProps: { duration: 80 } } },
    Menu: { defaultProps: { shadow: "md", transitionProps: { duration: 80 } } },
  },
});
