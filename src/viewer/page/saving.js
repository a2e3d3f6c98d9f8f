// Pictures as files.
import {CanvasPen, SvgPen} from './pens.js';
import {download} from './elements.js';

const MOST_PIXELS = 40e6, LONGEST = 16000;
const MARGIN = 12;

const whole = ({totalWidth, totalHeight}) =>
  ({x: -MARGIN, y: -MARGIN, width: totalWidth + 2 * MARGIN, height: totalHeight + 2 * MARGIN});

export function svgText(view) {
  const pen = new SvgPen(), seen = whole(view.arrangement);
  view.painter(pen, seen, 1).paint(view.arrangement);
  return pen.document({...seen, back: view.theme.back});
}

// Of what is seen at twice its size, or of everything as large as a browser can make it.
export function pngCanvas(view, isWhole) {
  const seen = isWhole ? whole(view.arrangement) : view.seen();
  const wanted = isWhole ? 1.5 : 2 * view.camera.scale;
  const scale = Math.min(wanted, LONGEST / Math.max(seen.width, seen.height),
                         Math.sqrt(MOST_PIXELS / (seen.width * seen.height)));
  const canvas = Object.assign(document.createElement('canvas'), {
    width: Math.max(1, Math.round(seen.width * scale)), height: Math.max(1, Math.round(seen.height * scale))});
  const context = canvas.getContext('2d', {alpha: false});
  context.fillStyle = view.theme.back;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.scale(scale, scale);
  context.translate(-seen.x, -seen.y);
  view.painter(new CanvasPen(context), seen, scale).paint(view.arrangement);
  return canvas;
}

const fileName = (view, ending) => `${view.model.title.replace(/\.onnx$/, '').replace(/[^\w.-]+/g, '_') || 'model'}.${ending}`;

export function save(view, what) {
  if (what === 'svg') {
    return download(fileName(view, 'svg'), new Blob([svgText(view)], {type: 'image/svg+xml'}));
  }
  pngCanvas(view, what === 'png-whole').toBlob(blob => blob && download(fileName(view, 'png'), blob));
}
