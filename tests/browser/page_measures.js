// Read by test_page_look.py: every visible text with its colour against what lies behind it (WCAG 2.2 contrast).
const channels = (colour) => {
  const canvas = (window.__canvas ??= new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true }));
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
};
const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1];
const behind = (element) => {
  const layers = [];
  for (let node = element; node; node = node.parentElement) {
    const colour = channels(getComputedStyle(node).backgroundColor);
    layers.push(colour);
    if (colour[3] === 1) break;
  }
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255, 1]);
};
const luminance = (colour) => {
  const [r, g, b] = colour.slice(0, 3).map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const contrast = (a, b) => {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};
const texts = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility({ visibilityProperty: true }) || element.closest(".unseen, .skip, noscript")) continue;
  const ground = behind(element);
  const ink = over(channels(getComputedStyle(element).color), ground);
  texts.push({ text: walker.currentNode.data.trim().slice(0, 40), ratio: contrast(ink, ground), size: parseFloat(getComputedStyle(element).fontSize) });
}
return { texts, ground: luminance(behind(document.body)) };
