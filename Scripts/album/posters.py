# SPDX-License-Identifier: MIT
"""Commands for ImageMagick that draw text and simple shapes (fonts: Lato, EB Garamond)."""
LATO = '/usr/share/fonts/truetype/lato/Lato-'
GARAMOND = '/usr/share/fonts/opentype/ebgaramond/EBGaramond12-'


def text(font, size, colour, place, words, spacing=0, gravity='NorthWest'):
    return ['-gravity', gravity, '-font', font, '-pointsize', str(size), '-kerning', str(spacing),
            '-fill', colour, '-annotate', place, words]


def ampersand(target):
    """A page with a large ampersand."""
    return (['-size', '1200x1600', 'xc:#f4ecdf', '-fill', '#d8412f', '-draw', 'circle 690,700 690,250']
            + text(GARAMOND + 'Italic.otf', 1240, '#1d1b2a', '-20-90', '&', 0, 'Center')
            + text(LATO + 'Bold.ttf', 30, '#1d1b2a', '+90+90', 'THE SHAPE OF LETTERS', 12)
            + text(LATO + 'Regular.ttf', 30, '#1d1b2a', '+90+90', 'No. 7', 4, 'NorthEast')
            + ['-fill', '#1d1b2a', '-draw', 'rectangle 90,1440 1110,1443']
            + text(GARAMOND + 'Regular.otf', 50, '#1d1b2a', '+90+70', 'et, und, and', 2, 'SouthWest')
            + text(GARAMOND + 'Italic.otf', 50, '#d8412f', '+90+70', 'since AD 79', 2, 'SouthEast')
            + ['-resize', '50%', '-strip', target])


def shapes(target):
    """Circles and quarter circles on a grid."""
    ink = {'r': '#e63946', 'b': '#1d3557', 'y': '#f4b942', 't': '#2a9d8f', 'p': '#f1e4d1'}
    rows = [('ry', 'bq', 'tp', 'yb', 'rq'), ('tq', 'yr', 'pb', 'rc', 'bt'), ('yc', 'tb', 'rq', 'by', 'tq'),
            ('br', 'pq', 'yb', 'tc', 'ry'), ('tq', 'rb', 'bc', 'yq', 'bp'), ('yb', 'tq', 'ry', 'bq', 'tc')]
    cell, command = 200, ['-size', '1000x1200', 'xc:#f1e4d1']
    for j, row in enumerate(rows):
        for i, (ground, figure) in enumerate(row):
            x, y = i * cell, j * cell
            other = {'q': 'p', 'c': 'p'}.get(figure, figure)
            if other == ground:
                other = 'b'
            command += ['-fill', ink[ground], '-draw', f'rectangle {x},{y} {x + cell - 1},{y + cell - 1}', '-fill', ink[other]]
            left, top = (i + j) % 2, (i * 2 + j) % 3 % 2
            corner = f'{x + cell * left},{y + cell * top}'
            if figure == 'c':
                command += ['-draw', f'circle {x + 100},{y + 100} {x + 100},{y + 30}', '-fill', ink[ground],
                            '-draw', f'circle {x + 100},{y + 100} {x + 100},{y + 66}']
            elif figure == 'q':
                sx, sy = (1 - 2 * left), (1 - 2 * top)
                sweep = 1 if sx * sy > 0 else 0
                for radius, paint in ((cell, ink[other]), (cell * 2 // 3, ink[ground]), (cell // 3, ink[other])):
                    command += ['-fill', paint, '-draw',
                                f"path 'M {corner} l {radius * sx},0 a {radius},{radius} 0 0 {sweep} {-radius * sx},{radius * sy} Z'"]
            else:
                command += ['-draw', f'polygon {x},{y} {x + cell - 1},{y + cell - 1} {x + (cell - 1) * left},{y + (cell - 1) * (1 - left)}']
    return command + ['-resize', '60%', '-depth', '8', '-strip', f'PNG24:{target}']
